// record.h: records the program's device operations in the file of $SIM_RECORD.
//
// A recording consists of text lines; some are followed by BYTES bytes of data:
//
//   recording 1
//   ptx B BYTES             followed by PTX of the program's binary B, which may have several texts
//   bytes NAME BYTES        followed by data; NAME is its hash
//   allocate N KIND BYTES CALL   allocation N, device, pinned or managed, by a call of the program
//   free N
//   write AT BYTES NAME     the host writes bytes
//   fill AT BYTES VALUE     the host sets bytes
//   copy TO FROM BYTES      from device to device
//   read AT BYTES NAME      the host reads bytes; NAME is their hash
//   launch B KERNEL x,y,z x,y,z SHARED x,y,z COOPERATIVE ARGUMENT...   grid, block, dynamic shared bytes, cluster
//
// A position (AT, TO, FROM) is N+OFFSET in an allocation, or B:NAME+OFFSET in a variable. An argument is its bytes, as 8-byte
// words in hexadecimal, separated by commas; a word that is a pointer into device memory is "@" and its position, so that
// allocations may have other addresses in a replay (simulator/page/replay.c).
//
// Changes of memory shared by host and device (pinned, managed) become a write before a launch, and a read after it. Arrays,
// textures, memory of graphs, registered memory passed to kernels, and several devices are not supported: the program ends
// with a message.
#ifndef RECORD_H
#define RECORD_H

#include "runtime/work/work.h"

// Called after the operation, except as noted. The caller holds the runtime's lock.
void sim_record_allocation(const Allocation *a);
void sim_record_free(const void *pointer); // before the operation
void sim_record_copy(const void *to, const void *from, size_t bytes);
void sim_record_fill(const void *pointer, int value, size_t bytes);
void sim_record_launch(const KernelLaunch *launch); // before the operation
void sim_record_launch_end(void);
void sim_record_texture(void); // creation of a texture or surface object

#endif
