// observer.c: who observes the machine.
#include "machine/observer.h"

Observer sim_observer;
