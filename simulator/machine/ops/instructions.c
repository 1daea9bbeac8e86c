// instructions.c: the table of all instructions. Each file with handlers or decoders defines its own rows.
#include "machine/ops/instructions.h"

const InstructionTable *sim_instructions(void)
{
    static const InstructionList *const LISTS[] = {
        &sim_move_instructions,   &sim_alu_instructions,    &sim_float_instructions,   &sim_convert_instructions,
        &sim_narrow_instructions, &sim_video_instructions,  &sim_texture_instructions, &sim_memory_instructions,
        &sim_async_instructions,  &sim_matrix_instructions, &sim_control_instructions,
    };
    static const InstructionTable TABLE = {LISTS, (int)(sizeof LISTS / sizeof *LISTS)};
    return &TABLE;
}
