// fuzz COUNT SEED SOURCE...: gives the kernel compiler COUNT random and mutated sources. Built with AddressSanitizer and UBSan it ends at
// the first fault; an input that takes longer than LIMIT_S seconds of the processor is one, too. What is accepted must be PTX that the simulator reads.
// fuzz --only N SEED SOURCE...: prints input N, and compiles it. Each input depends on SEED and its number alone.
#include "compiler/compiler.h"
#include "front/ptx.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

void __sanitizer_print_stack_trace(void); // of gcc's sanitizers
void __sanitizer_set_death_callback(void (*callback)(void));

enum { MAX_SOURCES = 1024, MAX_BYTES = 1 << 19, MAX_TOKEN_COUNT = 1 << 16, LIMIT_S = 10 };

typedef struct Text {
    char *bytes;
    size_t count;
} Text;

static Text sources[MAX_SOURCES];
static int source_count;
static Text made; // the present input
static long number;
static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

static void begin_input(uint64_t seed, long n)
{
    state = (seed * 1000003 + (uint64_t)n) * 0x9e3779b97f4a7c15u + 1;
    for (int k = 0; k < 8; k++)
        below(2);
    made.count = 0;
}

// ---- Writing an input

static void put_bytes(const char *bytes, size_t count)
{
    if (count > MAX_BYTES - made.count)
        count = MAX_BYTES - made.count;
    memcpy(made.bytes + made.count, bytes, count);
    made.count += count;
}

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    char line[4096];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put_bytes(line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

static void put_repeated(const char *text, uint32_t times)
{
    for (uint32_t k = 0; k < times; k++)
        put_bytes(text, strlen(text));
}

static const char *const WORDS[] = {"__global__", "__device__", "__shared__", "__constant__", "extern", "static", "const", "volatile", "void", "int",
    "unsigned", "char", "short", "long", "float", "double", "bool", "auto", "struct", "union", "enum", "template", "typename", "class", "using",
    "typedef", "namespace", "operator", "constexpr", "if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue", "return",
    "goto", "sizeof", "new", "delete", "this", "true", "false", "nullptr", "static_cast", "reinterpret_cast", "decltype", "alignas", "asm", "try",
    "throw", "public", "private", "virtual", "friend", "mutable", "explicit", "inline", "register", "threadIdx", "blockIdx", "x", "y", "n", "in", "out", "T",
    "N", "float4", "half", "__half2", "atomicAdd", "__syncthreads", "__shfl_down_sync", "cooperative_groups", "cuda", "ptx", "std", "printf", "assert",
    "__launch_bounds__", "__restrict__", "main", "0", "1", "-1", "2147483647", "4294967296", "18446744073709551615", "99999999999999999999999", "1.0f",
    "1e400", "0x1p-3", "0x", "1f", "1u", "'a'", "'\\x", "\"text\"", "\"", "'", "R\"(x)\"", "L\"x\"", "(", ")", "{", "}", "[", "]", "<", ">", "<<", ">>",
    "<<<", ">>>", ",", ";", ":", "::", ".", "->", ".*", "...", "?", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "=", "==", "!=", "<=", ">=", "&&",
    "||", "++", "--", "+=", "<<=", "#", "##", "\n#", "\n#define", "\n#undef", "\n#if", "\n#ifdef", "\n#else", "\n#elif", "\n#endif", "\n#include", "\n#line",
    "\n#pragma unroll", "\n#error", "defined", "__VA_ARGS__", "__LINE__", "__FILE__", "_Pragma", "//", "/*", "*/", "\\\n", "\\", "@", "`", "$", "\xff", "\xe2\x80\x9c"};
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

static const char *any_word(void)
{
    return WORDS[below(WORD_COUNT)];
}

// ---- Inputs without a source

static void random_bytes(void)
{
    const uint32_t count = below(2000);
    for (uint32_t k = 0; k < count; k++) {
        const char byte = (char)(below(4) ? 32 + below(95) : below(256));
        put_bytes(&byte, 1);
    }
}

static void random_words(void)
{
    const uint32_t count = below(400);
    const bool in_kernel = below(2);
    if (in_kernel)
        put("template <class T, int N> struct S { T x; int f() { return N; } };\n__global__ void k(const float *in, float *out, int n)\n{\n");
    for (uint32_t k = 0; k < count; k++)
        put("%s%s", any_word(), below(8) ? " " : "\n");
    if (in_kernel)
        put("\n}\n");
}

// One construct in itself, up to a depth.
static void deep_nesting(void)
{
    static const char *const OPENS[] = {"(", "{", "[", "((int)", "-", "!", "~", "*", "&", "if (n) ", "while (n) {", "for (;;) ", "do ", "n ? ", "n ? n : ",
        "f(", "in[", "S<", "sizeof(", "(n + ", "n = ", "n, ", "[&] { return ", "switch (n) { case 0: ", "else ", "int (*", "static_cast<int>(", "struct {",
        "namespace a {", "template <template <class> class T, class U = ", "n.x", "n->x", "1 + ", "n && ", "<<", "\"a\" ", "\n#if 1\n", "\n#ifdef X\n", "::", "a::",
        "const ", "int ", "* const ", "operator", "new ", "A(", "{{", "}", ")"};
    static const char *const CLOSES[] = {"", ")", "}", "]", ";", " : 0", ">", "; while (0);", "n"};
    const uint32_t depth = below(2) ? below(300) : below(60000);
    const char *open = OPENS[below(sizeof OPENS / sizeof *OPENS)], *close = CLOSES[below(sizeof CLOSES / sizeof *CLOSES)];
    const bool inside = below(4);
    put("#define A(x) x\nstruct T { int x; };\n__device__ int f(int x) { return x; }\n");
    put("%s", inside ? "__global__ void k(const int *in, int *out, int n)\n{\n    " : "");
    put("%s", below(2) ? "int x = " : below(2) ? "out[0] = " : "");
    put_repeated(open, depth);
    put("%s", below(2) ? "n" : "1");
    put_repeated(close, depth);
    put("%s", inside ? ";\n}\n" : "\n");
}

static void macro_bomb(void)
{
    const uint32_t levels = 2 + below(60), width = 1 + below(12);
    const uint32_t form = below(6);
    for (uint32_t k = 0; k < levels; k++) {
        put(form % 2 ? "#define m%u(x) " : "#define m%u ", k);
        for (uint32_t j = 0; j < width; j++)
            put(form == 1 ? "m%u(x x) " : form == 3 ? "m%u(m%u(x)) " : form == 4 ? "m%u ## " : form == 5 ? "m%u(#x) " : "m%u ", (k + 1) % (levels + below(2)), k);
        put("%s\n", form == 4 ? "x" : "");
    }
    put(form % 2 ? "#define m%u(x) x + 1\n" : "#define m%u 1 +\n", levels);
    put("__global__ void k(int *out) { out[0] = %s 0; }\n", form % 2 ? "m0(1)" : "m0");
    if (below(4) == 0)
        put("#if %s\n#endif\n", form % 2 ? "m0(1)" : "m0 1");
}

static void template_bomb(void)
{
    const uint32_t depth = below(3) ? 1 + below(100) : below(1000000);
    switch (below(9)) {
    case 0: put("template <int N> __device__ int f() { return f<N + 1>(); }\n__global__ void k(int *out) { *out = f<0>(); }\n"); break;
    case 1:
        put("template <int N> __device__ int f() { return f<N - 1>() + f<N - 2>(); }\ntemplate <> __device__ int f<0>() { return 1; }\n"
            "template <> __device__ int f<1>() { return 1; }\n__global__ void k(int *out) { *out = f<%u>(); }\n", depth);
        break;
    case 2: put("template <class T> struct S { S<S<T>> *next; int f() { return sizeof(S<S<T>>); } };\n__global__ void k(int *out) { S<int> s; *out = s.f(); }\n"); break;
    case 3:
        put("template <class T> struct P { T a, b; };\n__global__ void k(int *out) { ");
        put_repeated("P<", 1 + depth % 200);
        put("int");
        put_repeated(">", 1 + depth % 200);
        put(" x; *out = sizeof x; }\n");
        break;
    case 4: put("constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n__global__ void k(int *out) { constexpr int x = f(%u); *out = x; }\n", depth); break;
    case 5: put("constexpr int f(int n) { int s = 0; while (n >= 0) s += n; return s; }\n__global__ void k(int *out) { constexpr int x = f(%u); __shared__ int a[f(3)]; *out = x + a[0]; }\n", depth); break;
    case 6:
        put("template <class... T> __device__ int f(T... t) { return f(t..., t...); }\n__global__ void k(int *out) { *out = f(1, 2); }\n");
        break;
    case 7: put("template <int N> struct F { static constexpr int value = N * F<N - 1>::value; };\ntemplate <> struct F<0> { static constexpr int value = 1; };\n"
                "__global__ void k(int *out) { *out = F<%u>::value; }\n", depth); break;
    default: put("struct S%u { int x; S%u *p; S%u s; };\n__global__ void k(S%u *s) { s->s.s.x = 1; }\n", depth, depth, depth, depth);
    }
}

// Much code from a short source.
static void code_bomb(void)
{
    const uint32_t size = below(3) ? 1 + below(64) : 1 + below(1u << 31), levels = 1 + below(50);
    switch (below(8)) {
    case 0:
        put("__global__ void k(int *out, int n)\n{\n");
        for (uint32_t k = 0; k < levels % 12; k++)
            put("#pragma unroll\nfor (int i%u = 0; i%u < %u; i%u++)\n", k, k, size, k);
        put("out[n++] += n;\n}\n");
        break;
    case 1:
        put("__device__ int f0(int x) { return x * x + 1; }\n");
        for (uint32_t k = 1; k < levels; k++)
            put("__device__ %sint f%u(int x) { return f%u(x + 1) + f%u(x * 3); }\n", below(4) ? "" : "__noinline__ ", k, k - 1, k - 1);
        put("__global__ void k(int *out) { *out = f%u(*out); }\n", levels - 1);
        break;
    case 2: put("__device__ int f(int x);\n__device__ int g(int x) { return x ? f(x - 1) : 1; }\n__device__ int f(int x) { return g(x) + g(x + 1); }\n__global__ void k(int *out) { *out = f(*out); }\n"); break;
    case 3: put("__shared__ int s[%u];\n__device__ float g[%u][%u];\n__global__ void k(int *out, int n) { int a[%u]; a[n] = s[n]; out[a[0]] = g[n][n]; }\n", size, size, size, size); break;
    case 4:
        put("__global__ void k(int *out, int n)\n{\nswitch (n) {\n");
        for (uint32_t k = 0; k < levels * 40; k++)
            put("case %d: out[%u] = n;%s\n", (int)(k * (below(20) ? 1 : size)), k, below(2) ? " break;" : "");
        put("}\n}\n");
        break;
    case 5:
        put("__global__ void k(int *out, int n)\n{\nint x = n;\n");
        for (uint32_t k = 0; k < levels * 40; k++)
            put("if (x %% %u == %u) x = out[x + %u]; else x -= %u;\n", 2 + below(9), below(2), below(100), size);
        put("*out = x;\n}\n");
        break;
    case 6:
        put("__global__ void k(int *out, int n)\n{\n*out = n");
        for (uint32_t k = 0; k < levels * 100; k++)
            put(" %s %u", (const char *[]){"+", "*", "/", "%", "<<", ">>", "-", "^"}[below(8)], below(4) ? below(40) : size);
        put(";\n}\n");
        break;
    default:
        put("__global__ void k(float *out, int n)\n{\nfor (int i = 0; i < n; i++)\nfor (int j = i; j < %u; j++)\nfor (int m = 0; m < 4; m++) {\n", size);
        for (uint32_t k = 0; k < levels; k++)
            put("out[i * %u + j + %u * m] += out[j] * %u.0f;\n", below(100), below(10), below(100));
        put("}\n}\n");
    }
}

// ---- Mutated sources

typedef struct Token {
    uint32_t at, count;
} Token;

static Token tokens[MAX_TOKEN_COUNT];

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static uint32_t split(const Text *text)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < text->count && count < MAX_TOKEN_COUNT; count++) {
        const uint32_t begin = at++;
        while (is_word(text->bytes[begin]) && at < text->count && is_word(text->bytes[at]))
            at++;
        tokens[count] = (Token){begin, at - begin};
    }
    return count;
}

static void put_any_token(void)
{
    const Text *other = &sources[below((uint32_t)source_count)];
    if (below(2) || other->count < 40) {
        put("%s", any_word());
        return;
    }
    uint32_t at = below((uint32_t)other->count - 30), length = 1;
    while (length < 24 && is_word(other->bytes[at + length - 1]))
        length++;
    put_bytes(other->bytes + at, length);
}

// Some changes: tokens removed, doubled, replaced, inserted, exchanged, or repeated often.
static void mutated_tokens(void)
{
    const Text *source = &sources[below((uint32_t)source_count)];
    const uint32_t count = split(source), changes = 1 + below(4);
    uint32_t places[8], kinds[8];
    for (uint32_t k = 0; k < changes; k++) {
        places[k] = below(count);
        kinds[k] = below(8);
    }
    for (uint32_t t = 0; t < count; t++) {
        uint32_t kind = UINT32_MAX;
        for (uint32_t k = 0; k < changes; k++)
            kind = places[k] == t ? kinds[k] : kind;
        const char *bytes = source->bytes + tokens[t].at;
        const uint32_t length = tokens[t].count, other = below(count);
        if (kind == 7 && below(40) == 0)
            put_repeated((char[2]){bytes[0], 0}, below(20000));
        if (kind == 6)
            return; // cut off
        if (kind == 2 || kind == 3)
            put_any_token();
        if (kind == 4)
            put_bytes(source->bytes + tokens[other].at, tokens[other].count);
        if (kind == 5 && t + 1 < count)
            put_bytes(source->bytes + tokens[t + 1].at, tokens[t + 1].count);
        if (kind != 0 && kind != 2)
            put_bytes(bytes, length);
        if (kind == 1)
            put_bytes(bytes, length);
    }
}

static void mutated_bytes(void)
{
    const Text *source = &sources[below((uint32_t)source_count)];
    put_bytes(source->bytes, source->count);
    for (uint32_t k = 1 + below(5); k > 0 && made.count > 0; k--) {
        const size_t at = below((uint32_t)made.count);
        if (below(2))
            made.bytes[at] = (char)below(256);
        else
            made.bytes[at] ^= (char)(1u << below(8));
    }
}

// The begin of one source and the end of another.
static void spliced(void)
{
    const Text *a = &sources[below((uint32_t)source_count)], *b = &sources[below((uint32_t)source_count)];
    put_bytes(a->bytes, below((uint32_t)a->count + 1));
    const size_t from = below((uint32_t)b->count + 1);
    put_bytes(b->bytes + from, b->count - from);
}

static void make_input(uint64_t seed, long n)
{
    begin_input(seed, n);
    const uint32_t kind = below(100);
    if (kind < 12)
        random_bytes();
    else if (kind < 30)
        random_words();
    else if (kind < 38)
        deep_nesting();
    else if (kind < 42)
        macro_bomb();
    else if (kind < 46)
        template_bomb();
    else if (kind < 50)
        code_bomb();
    else if (kind < 85)
        mutated_tokens();
    else if (kind < 94)
        mutated_bytes();
    else
        spliced();
}

// ---- Compiling

static void on_death(void)
{
    fprintf(stderr, "fuzz: input %ld ends the compiler\n", number);
}

// UBSan's runtime library does not call AddressSanitizer's callback.
static void on_abort(int signal)
{
    (void)signal;
    on_death();
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1";
}

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "fuzz: input %ld: %s\n", number, why);
    abort();
}

static void limit_time(long seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static void on_alarm(int signal)
{
    (void)signal;
    char line[80];
    const int length = snprintf(line, sizeof line, "fuzz: input %ld takes longer than %d s\n", number, LIMIT_S);
    if (write(2, line, (size_t)length) < 0)
        _exit(3);
    __sanitizer_print_stack_trace();
    abort();
}

static void check_diagnostics(const Compilation *c)
{
    int errors = 0;
    for (int k = 0; k < c->diagnostic_count; k++) {
        const Diagnostic *d = &c->diagnostics[k];
        errors += d->severity == ERROR_DIAGNOSTIC;
        if (!d->message || !d->message[0] || !d->file)
            fail("a diagnostic has no message or no file");
        if (d->line < 0 || d->column < 0 || d->length < 0 || (size_t)d->line > made.count + 2)
            fail("a diagnostic has no place in the source");
    }
    if (errors != c->error_count)
        fail("error_count is not the number of errors");
    if ((c->ptx != NULL) == (errors > 0))
        fail(c->ptx ? "there are errors and PTX" : "there is neither PTX nor an error");
}

static bool is_accepted, reads_ptx = true;

static void compile(void)
{
    Compilation c;
    static FILE *nowhere;
    char *copy = malloc(made.count ? made.count : 1); // of that size, so that the sanitizer sees reads past its end
    memcpy(copy, made.bytes, made.count);
    const CompileOptions options = {.file = "input.cu", .architecture = below(2) ? 90 : 80, .max_instructions = below(4) ? 20000 : 0};
    limit_time(LIMIT_S);
    compile_source(&c, copy, made.count, &options);
    check_diagnostics(&c);
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    compile_print_diagnostics(nowhere, &c, copy, made.count);
    is_accepted = c.ptx != NULL;
    if (c.ptx && reads_ptx) {
        Module *module = sim_parse(c.ptx);
        if (module->error[0]) {
            fprintf(stderr, "%s\n", module->error);
            fail("the simulator does not read the PTX");
        }
        sim_free_module(module);
    }
    limit_time(0);
    compile_free(&c);
    free(copy);
}

static void read_source(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || source_count == MAX_SOURCES)
        return;
    char *bytes = malloc(MAX_BYTES);
    const size_t count = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    sources[source_count++] = (Text){realloc(bytes, count + 1), count};
}

int main(int argc, char **argv)
{
    const bool only = argc > 3 && strcmp(argv[1], "--only") == 0;
    const int first = only ? 4 : 3;
    for (int k = first; k < argc; k++)
        read_source(argv[k]);
    if (source_count == 0) {
        fprintf(stderr, "usage: fuzz COUNT SEED SOURCE... or fuzz --only N SEED SOURCE...\n");
        return 2;
    }
    made.bytes = malloc(MAX_BYTES);
    signal(SIGPROF, on_alarm);
    signal(SIGABRT, on_abort);
    __sanitizer_set_death_callback(on_death);
    const uint64_t seed = strtoull(argv[first - 1], NULL, 10);
    if (only) {
        number = atol(argv[2]);
        make_input(seed, number);
        fwrite(made.bytes, 1, made.count, stdout);
        fflush(stdout);
        compile();
        return 0;
    }
    const long count = atol(argv[1]);
    long accepted = 0;
    for (number = 0; number < count; number++) {
        make_input(seed, number);
        compile();
        accepted += is_accepted;
        if ((number + 1) % 10000 == 0)
            fprintf(stderr, "%ld inputs, %ld accepted\n", number + 1, accepted);
    }
    printf("%ld inputs, %ld accepted, no fault\n", count, accepted);
    return 0;
}
