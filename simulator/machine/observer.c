// observer.c: the registered observer.
#include "machine/observer.h"

Observer sim_observer;
