// observe.h: the checker observes the machine.
#ifndef OBSERVE_H
#define OBSERVE_H

// From now on the machine reports to the checker.
void sim_observe_machine(void);

#endif
