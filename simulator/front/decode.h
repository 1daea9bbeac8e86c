// decode.h: internal header of the decoder: decode.c, operands.c, and the instruction tables in machine/ops.
#ifndef DECODE_H
#define DECODE_H

#include "front/program.h"

enum { MAX_PARTS = 12 };

// Decodes a call of an undefined function by name. False if the name is unknown or the arguments do not match.
typedef bool DecodeCall(Module *module, Slice name, const CallSite *call, size_t param_bytes, Instr *i);

typedef struct Opcode { // "ld.global.f32" split at the dots; the modifiers are in the order of the table's row
    Slice parts[MAX_PARTS];
    int count;
    Type type; // that the last part names, or NO_TYPE
} Opcode;

enum { DECODER_BUCKETS = 256 }; // of hash tables

typedef struct TableRow {
    const struct Instruction *row;
    struct TableRow *next; // of the same bucket, in the order of the tables
} TableRow;

typedef struct KnownOpcode { // an opcode that has occurred in the module
    Slice text;
    Opcode split, ordered;         // as written; as in the row
    const struct Instruction *row; // that it matches, or NULL
    uint32_t number;               // makes opcodes quick to compare
    struct KnownOpcode *next;      // of the same bucket
} KnownOpcode;

// Owned by a module, in its arena; guarded by the lock of prepare.c. sim_decode works on a copy for each function.
typedef struct Decoder {
    Module *module;
    Arena *arena; // the module's
    const Function *function;
    Program *program;
    int slot_capacity;
    uint32_t carry; // frame offset of the carry flag, or NO_OFFSET
    TableRow **rows;     // by the hash of the row's name
    KnownOpcode **known; // by the hash of the opcode; shared with its copies
    DecodeCall *decode_call;  // for undefined functions
    uint32_t opcode_count; // used in the module's decoder, not in its copies
} Decoder;

// Completes an instruction whose handler and op are set from the table. False: unsupported.
typedef bool Decode(Decoder *d, const Statement *s, const Opcode *o, Instr *i);

typedef struct Instruction { // a row of the table
    // The opcode's name, then its modifiers: a|b means one of these words, {a|b} at most one of them. A word in capitals
    // means a list of sim_word_list, TYPE any type of by_type.
    const char *syntax;
    // A letter for each operand, the destination first: i 32 bits, l 64, h 16, c 8, q 128, f float, d double, p predicate;
    // v 32 bits, perhaps with a selector; t as wide as the opcode's type, w twice as wide. A final "+" means that the
    // instruction uses the carry flag. NULL: `decode` handles the operands.
    const char *operands;
    Decode *decode; // NULL: sim_plain_operands
    Handler *run;   // NULL: from by_type, or set by `decode`
    int op;         // Instr.op
    Kind kind;
    int effects; // Effect bits; WRITES_DESTINATION is implied by `operands`
    Handler *by_type[TYPES];
} Instruction;

typedef struct InstructionList { // the rows of one subject
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

// Sets the tables for decoding the module's functions, which happens later. The module's variables must have addresses.
void sim_set_instruction_table(Module *module, const InstructionTable *table, DecodeCall *decode_call);
// Fills in a function's empty program. Statements that match no row become UNKNOWN.
void sim_decode(const Module *module, const Function *function);

// The alternatives of a word in capitals, or NULL for other words.
const char *sim_word_list(Slice word);

bool sim_has_modifier(const Opcode *o, const char *modifier);
// The index of the first of `count` words that is a modifier of the opcode; `count` if none is.
int sim_modifier_among(const Opcode *o, const char *const *words, int count);

// ---- operands.c: frame offsets of operands. NO_OFFSET: the operand does not match the letter.

uint32_t sim_new_frame_offset(Decoder *d, uint32_t bytes, uint32_t alignment);
uint32_t sim_constant(Decoder *d, int bytes, uint64_t value);
uint32_t sim_source(Decoder *d, const Operand *o, char letter);
uint32_t sim_destination(const Operand *o, char letter);
char sim_letter_of_bytes(int bytes);
char sim_letter_of_type(Type type);
// A variable's address is a base plus sim_offset_of. Returns the frame offset of the base if it differs between blocks or calls;
// otherwise NO_OFFSET, and the base is 0.
uint32_t sim_base_of(Decoder *d, const Variable *v, int bytes);
int64_t sim_offset_of(const Variable *v);
// The Special of a clock register, which is not cached in a slot; -1 for other operands.
int sim_clock_named(const Operand *o);
// Decodes operands according to the letters of Instruction.operands.
bool sim_plain_operands(Decoder *d, const Statement *s, const Opcode *o, Instr *i, const char *letters);
// Fills i->elements with the offsets of a vector's elements; NO_OFFSET for `_`, allowed only in a destination.
bool sim_vector_offsets(Decoder *d, const Operand *o, Instr *i, char letter, bool is_destination);
// [register + offset], [symbol + offset] or [number]
bool sim_decode_address(Decoder *d, const Operand *o, Space space, Address *address);

Decode sim_decode_comparison; // alu.c: setp

// Raises the function's BlockConcurrency to at least this one.
void sim_require_concurrency(Decoder *d, BlockConcurrency concurrency);

#endif
