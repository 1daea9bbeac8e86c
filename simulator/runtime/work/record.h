// record.h: what the program asks of the device, into the file that $SIM_RECORD names, if it does.
//
// A recording is a text of lines; a line that ends with a number of bytes may have so many behind it:
//
//   recording 1
//   ptx B BYTES             and the PTX of the program's binary B; several of one binary are linked
//   bytes NAME BYTES        and these bytes, by a name that stands for what they are
//   allocate N KIND BYTES CALL   allocation N, device, pinned or managed, by a call of the program
//   free N
//   write AT BYTES NAME     the host writes bytes
//   fill AT BYTES VALUE     ... or one value
//   copy TO FROM BYTES      from device to device
//   read AT BYTES NAME      the host reads these bytes; the bytes NAME are what it found
//   launch B KERNEL x,y,z x,y,z SHARED x,y,z COOPERATIVE ARGUMENT...   grid, block, dynamic shared bytes, cluster
//
// A place (AT, TO, FROM) is N+OFFSET of an allocation, or B:NAME+OFFSET of a variable. An argument is its bytes, as
// words of eight bytes in hexadecimal digits, with a comma between; a word that is a pointer into device memory is its
// place, behind an @. So a recording can be replayed where allocations lie elsewhere: simulator/page/replay.c does it.
//
// Memory that host and device share (pinned, managed) is written before a launch, and read behind it, where it has
// changed. Arrays, textures, graphs' memory, registered memory that a kernel is given and several devices are not
// recorded: the program ends with a line.
#ifndef RECORD_H
#define RECORD_H

#include "runtime/work/work.h"

// Each is called when the work has been done, but a launch before. The runtime's lock is held.
void sim_record_allocation(const Allocation *a);
void sim_record_free(const void *pointer); // before it is freed
void sim_record_move(const void *to, const void *from, size_t bytes);
void sim_record_fill(const void *pointer, int value, size_t bytes);
void sim_record_launch(const KernelLaunch *launch);
void sim_record_end_of_launch(void);
void sim_record_texture(void); // or surface: an object of it is made

#endif
