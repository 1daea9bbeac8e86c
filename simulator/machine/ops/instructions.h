// instructions.h: the table of all instructions that the machine executes.
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H

#include "front/decode.h"

extern const InstructionList sim_move_instructions, sim_alu_instructions, sim_float_instructions, sim_convert_instructions,
    sim_narrow_instructions, sim_video_instructions, sim_texture_instructions, sim_memory_instructions,
    sim_async_instructions, sim_matrix_instructions, sim_control_instructions;

const InstructionTable *sim_instructions(void);

#endif
