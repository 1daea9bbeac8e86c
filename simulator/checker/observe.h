// observe.h: the checker observes the machine.
#ifndef OBSERVE_H
#define OBSERVE_H

// Installs the checker as the observer of the machine.
void sim_observe_machine(void);

#endif
