// decode.h: what the files share that make instructions of statements. decode.c tells how.
#ifndef DECODE_H
#define DECODE_H

#include "front/program.h"

enum { MAX_PARTS = 12 };

// A call of a function that no text defines, by its name; false if there is none, or the call does not fit.
typedef bool DecodeCall(Module *module, Slice name, const CallSite *call, size_t param_bytes, Instr *i);

typedef struct QualifiedOpcode { // and its number
    Slice text;
    uint32_t number;
    struct QualifiedOpcode *next;
} QualifiedOpcode;

// Of a module, in whose arena it lies; used under the lock of ready.c. sim_decode fills in a copy for each function.
typedef struct Decoder {
    Module *module;
    Arena *arena; // the module's
    const Function *function;
    Program *program;
    int slot_space;
    uint32_t carry; // of add.cc and the like, or NOWHERE
    const struct Instruction **rows; // of the whole table, by their names
    int row_count;
    DecodeCall *decode_call;  // of functions that no text defines
    QualifiedOpcode *opcodes; // of the module's operations between lanes: in the module's decoder, not in a copy
} Decoder;

typedef struct Opcode { // "ld.global.f32" at the dots, its parts in the order of the table's row
    Slice parts[MAX_PARTS];
    int count;
    Type type; // that the last part names, or NO_TYPE
} Opcode;

// Completes an instruction whose handler and op come from the table. False for what it does not know.
typedef bool Decode(Decoder *d, const Statement *s, const Opcode *o, Instr *i);

typedef struct Instruction { // a row of the table
    // The opcode's name and, behind spaces, what may follow it at dots: a|b one of these words, {a|b} one of them
    // or none. A word in capitals stands for a list of words: see decode.c; TYPE for the types in by_type.
    const char *syntax;
    // A letter for each operand, the destination first: i 32 bits, l 64, h 16, c 8, q 128, f, d, p a predicate; v 32 bits, of
    // which a part may be named; t of the opcode's type, w twice as wide. Behind a "+" they use the carry, too. NULL: decode looks for itself.
    const char *operands;
    Decode *decode; // NULL: the operands are all there is
    Handler *run;   // NULL: by_type, or decode, has it
    int op;         // Instr.op
    Kind kind;
    int effects; // SETS_FIRST is understood where `operands` lists some
    Handler *by_type[TYPES];
} Instruction;

typedef struct InstructionList { // the table's rows of one subject
    const char *subject;
    const Instruction *rows;
    int count;
} InstructionList;

#define INSTRUCTION_LIST(name, subject, rows) \
    const InstructionList name = {subject, rows, (int)(sizeof(rows) / sizeof *(rows))};

typedef struct InstructionTable {
    const InstructionList *const *lists;
    int count;
} InstructionTable;

// Of which instructions the functions of a module will be made, when they are needed. Its variables have their places.
void sim_set_instruction_table(Module *module, const InstructionTable *table, DecodeCall *decode_call);
// Fills in a function's program, which is empty. What the table does not know becomes UNKNOWN.
void sim_decode(const Module *module, const Function *function);

// A word's list, as in the syntax, or NULL if it stands for itself.
const char *sim_word_list(Slice word);

bool sim_has_part(const Opcode *o, const char *part);
// Which of `count` words the opcode has; `count` if none.
int sim_part_among(const Opcode *o, const char *const *words, int count);

// ---- operands.c: places in a frame, and the operands that are read or written there. NOWHERE: it is no such operand.

uint32_t sim_new_frame_offset(Decoder *d, uint32_t bytes, uint32_t alignment);
uint32_t sim_constant(Decoder *d, int bytes, uint64_t value);
uint32_t sim_source(Decoder *d, const Operand *o, char letter);
uint32_t sim_destination(const Operand *o, char letter);
char sim_letter_of_bytes(int bytes);
char sim_letter_of_type(Type type);
// Where the addresses of a variable begin that differ between blocks or calls: added to sim_offset_of.
uint32_t sim_base_of(Decoder *d, const Variable *v, int bytes);
int64_t sim_offset_of(const Variable *v);
// A clock's number, which is read anew each time; -1 of any other operand.
int sim_clock_named(const Operand *o);
// The operands of a statement are those that the letters name.
bool sim_plain_operands(Decoder *d, const Statement *s, const Opcode *o, Instr *i, const char *letters);
// The places of a vector's elements go into the list; `_` is NOWHERE where they are written.
bool sim_vector_offsets(Decoder *d, const Operand *o, Instr *i, char letter, bool written);
// [register + offset], [symbol + offset] or [number]
bool sim_decode_address(Decoder *d, const Operand *o, Space space, Address *address);

Decode sim_decode_comparison; // alu.c: setp

// The function's blocks may run side by side no more freely than this.
void sim_require_order(Decoder *d, BlockOrder order);

#endif
