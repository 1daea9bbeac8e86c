// host_launch.c: records launches in evaluated host code.
#include "compiler/host.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/mangle.h"

enum { MAX_LAUNCHES = 1000 };

HostKernel *host_kernel(Host *h, const Function *function)
{
    for (uint32_t k = 0; k < h->kernel_count; k++)
        if (h->kernels[k].function == function)
            return &h->kernels[k];
    HostKernel *kernel = compile_push(h->compiler, h->kernels, h->kernel_count, h->kernel_capacity);
    *kernel = (HostKernel){.function = function, .dynamic_shared_bytes = -1};
    return kernel;
}

// ---- Arguments

// Whether an object of this type has a pointer at the offset.
static bool has_pointer_at(const Type *type, uint64_t offset)
{
    if (type->kind == TYPE_POINTER)
        return offset == 0;
    if (type->kind == TYPE_ARRAY)
        return type->target->size && has_pointer_at(type->target, offset % type->target->size);
    if (type->kind != TYPE_RECORD)
        return false;
    const Record *r = type->record;
    for (uint32_t k = 0; k < r->field_count; k++)
        if (offset >= r->fields[k].offset && offset < r->fields[k].offset + r->fields[k].type->size &&
            has_pointer_at(r->fields[k].type, offset - r->fields[k].offset))
            return true;
    return false;
}

static bool write_pointer(const HostCall *call, const unsigned char *bytes)
{
    const Constant *pointer = NULL;
    uint64_t there;
    memcpy(&pointer, bytes, sizeof pointer);
    Constant value = pointer ? *pointer : (Constant){0};
    if (!value.variable)
        value = host_pointer(call->host, value.integer);
    if (host_is_on_device(call->host, &value, 0, &there)) {
        fputc('@', call->host->calls);
        host_write_position(call->host, &value);
        return true;
    }
    if (value.function || value.variable)
        return host_fail(call, "allocate it with cudaMalloc", "a kernel is given a pointer that is not into device memory");
    fprintf(call->host->calls, "%016" PRIx64, value.integer);
    return true;
}

static bool write_argument(const HostCall *call, Type *type, Constant address)
{
    const unsigned char *bytes = address.variable->bytes + address.integer;
    for (uint64_t at = 0; at < type->size; at += 8) {
        const uint64_t count = type->size - at < 8 ? type->size - at : 8;
        uint64_t word = 0;
        fputc(at ? ',' : ' ', call->host->calls);
        if (has_pointer_at(type, at)) {
            if (!write_pointer(call, bytes + at))
                return false;
        } else {
            memcpy(&word, bytes + at, count);
            fprintf(call->host->calls, "%0*" PRIx64, (int)(2 * count), word);
        }
    }
    return true;
}

// ---- Launches

static bool read_dim3(const HostCall *call, Constant address, uint32_t size[3])
{
    const Variable *object = address.variable;
    const uint64_t bytes = 3 * sizeof *size;
    if (!object || !object->bytes || address.integer < 0 || (uint64_t)address.integer + bytes > object->type->size)
        return host_fail(call, NULL, "the launch's configuration is no dim3");
    memcpy(size, object->bytes + address.integer, bytes);
    return true;
}

static bool begin_launch(const HostCall *call, Function *kernel, const HostShape *shape)
{
    Host *h = call->host;
    const HostDevice *device = h->compiler->options->device;
    const char *name = mangle_function(h->compiler, kernel), *reason;
    HostShape complete = *shape;
    const HostKernel *attributes = host_kernel(h, kernel);
    complete.max_dynamic_shared_bytes = attributes->dynamic_shared_bytes;
    complete.non_portable_clusters = attributes->non_portable_clusters;
    if (++h->launch_count > MAX_LAUNCHES)
        return host_fail(call, NULL, "more than %d launches: does the loop around them end?", MAX_LAUNCHES);
    if ((reason = device->reject(device->context, name, &complete)))
        return host_fail(call, NULL, "the kernel '%s' cannot be launched: %s", kernel->name->text, reason);
    fprintf(h->calls, "launch 0 %s %u,%u,%u %u,%u,%u %" PRIu64 " %u,%u,%u %d", name, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
            shape->block[1], shape->block[2], shape->dynamic_shared_bytes, shape->cluster[0], shape->cluster[1], shape->cluster[2], shape->is_cooperative);
    return true;
}

static Constant new_object(Evaluator *v, Type *type)
{
    return (Constant){.variable = evaluate_object(v, type_bare(type))};
}

static bool read_configuration(const HostCall *call, const Expression *launch, HostShape *shape)
{
    Evaluator *v = call->v;
    Expression *const *parts = launch->left->arguments;
    const uint32_t count = launch->left->argument_count;
    Constant value;
    for (uint32_t k = 0; k < count && k < 2; k++) {
        Constant size = new_object(v, parts[k]->type);
        if (!evaluate_to_object(v, parts[k], size, parts[k]->type) || !read_dim3(call, size, k ? shape->block : shape->grid))
            return false;
    }
    for (uint32_t k = 2; k < count; k++) {
        if (!evaluate_scalar(v, parts[k], &value))
            return false;
        if (k == 2)
            shape->dynamic_shared_bytes = (uint64_t)value.integer;
    }
    return true;
}

bool host_launch(Evaluator *v, Expression *launch, Constant *value)
{
    Function *kernel = launch->function;
    HostShape shape = {0};
    const HostCall call = {.v = v, .host = v->host, .e = launch};
    Constant *objects = compile_allocate(v->compiler, (launch->argument_count + 1) * sizeof *objects);
    *value = (Constant){0};
    if (!launch->left || launch->argument_count < kernel->parameter_count)
        return host_fail(&call, NULL, "'%s' needs %u arguments", kernel->name->text, kernel->parameter_count);
    if (!read_configuration(&call, launch, &shape))
        return false;
    for (uint32_t k = 0; k < kernel->parameter_count; k++) {
        Type *type = type_bare(kernel->type->parameters[k]);
        objects[k] = new_object(v, type);
        if (!objects[k].variable || !evaluate_to_object(v, launch->arguments[k], objects[k], type))
            return false;
    }
    if (!begin_launch(&call, kernel, &shape))
        return false;
    for (uint32_t k = 0; k < kernel->parameter_count; k++)
        if (!write_argument(&call, type_bare(kernel->type->parameters[k]), objects[k]))
            return false;
    fputc('\n', v->host->calls);
    return true;
}

// ---- cudaLaunchKernelEx

static const Field *field_named(const Type *type, const char *name)
{
    for (uint32_t k = 0; k < type->record->field_count; k++)
        if (type->record->fields[k].name && !strcmp(type->record->fields[k].name->text, name))
            return &type->record->fields[k];
    return NULL;
}

static Constant member(Constant object, const Type *type, const char *name)
{
    const Field *field = field_named(type, name);
    object.integer += field ? (int64_t)field->offset : 0;
    return object;
}

static bool read_attribute(const HostCall *call, Constant attribute, Type *type, HostShape *shape)
{
    enum { COOPERATIVE = 2, CLUSTER = 4 };
    Constant id, value = member(attribute, type, "val");
    if (!evaluate_read(call->v, call->e, member(attribute, type, "id"), type_basic(call->host->compiler, TYPE_INT), &id))
        return false;
    if (id.integer == CLUSTER)
        return read_dim3(call, value, shape->cluster);
    if (id.integer != COOPERATIVE)
        return true;
    if (!evaluate_read(call->v, call->e, value, type_basic(call->host->compiler, TYPE_INT), &id))
        return false;
    shape->is_cooperative = id.integer != 0;
    return true;
}

static bool read_config(const HostCall *call, Constant config, Type *type, HostShape *shape)
{
    Compiler *c = call->host->compiler;
    Constant bytes, attributes, count;
    Type *list = field_named(type, "attrs")->type, *attribute = type_bare(list->target);
    if (!evaluate_read(call->v, call->e, member(config, type, "dynamicSmemBytes"), type_size_t(c), &bytes) ||
        !evaluate_read(call->v, call->e, member(config, type, "attrs"), list, &attributes) ||
        !evaluate_read(call->v, call->e, member(config, type, "numAttrs"), type_basic(c, TYPE_UNSIGNED), &count))
        return false;
    if (!read_dim3(call, member(config, type, "gridDim"), shape->grid) || !read_dim3(call, member(config, type, "blockDim"), shape->block))
        return false;
    shape->dynamic_shared_bytes = (uint64_t)bytes.integer;
    for (int64_t k = 0; k < count.integer; k++, attributes.integer += (int64_t)attribute->size)
        if (!read_attribute(call, attributes, attribute, shape))
            return false;
    return true;
}

// cudaOccupancyMaxActiveClusters(&clusters, kernel, &config). Treats all SMs as one GPC, as the runtime does.
bool host_max_clusters(const HostCall *call, Constant *value)
{
    enum { SM_COUNT = 16 };
    const HostDevice *device = call->host->compiler->options->device;
    Function *kernel = call->arguments[1].function;
    HostShape shape = {0};
    *value = (Constant){0};
    if (!kernel || !kernel->is_kernel)
        return host_fail(call, NULL, "cudaOccupancyMaxActiveClusters needs a kernel");
    if (!read_config(call, call->arguments[2], type_bare(call->e->function->type->parameters[2]->target), &shape))
        return false;
    const int threads = (int)(shape.block[0] * shape.block[1] * shape.block[2]);
    const int64_t blocks = (int64_t)shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
    if (blocks < 1)
        return host_fail(call, NULL, "cudaOccupancyMaxActiveClusters needs a configuration with a cluster");
    const int resident = device->resident_blocks(device->context, mangle_function(call->host->compiler, kernel), threads, shape.dynamic_shared_bytes);
    const Constant clusters = {.integer = resident * device->attribute(device->context, SM_COUNT) / blocks};
    return evaluate_write(call->v, call->e, call->arguments[0], type_basic(call->host->compiler, TYPE_INT), &clusters);
}

bool host_launch_ex(const HostCall *call, Constant *value)
{
    Evaluator *v = call->v;
    Function *kernel = call->arguments[1].function;
    Type *config = type_bare(call->e->function->type->parameters[0]->target);
    HostShape shape = {0};
    *value = (Constant){0};
    if (!kernel || !kernel->is_kernel)
        return host_fail(call, NULL, "cudaLaunchKernelEx needs a kernel");
    if (kernel->parameter_count + 2 != call->count)
        return host_fail(call, NULL, "'%s' has %u parameters, and is given %u arguments", kernel->name->text, kernel->parameter_count, call->count - 2);
    if (!read_config(call, call->arguments[0], config, &shape) || !begin_launch(call, kernel, &shape))
        return false;
    for (uint32_t k = 0; k < kernel->parameter_count; k++) {
        Type *type = type_bare(kernel->type->parameters[k]), *given = type_bare(call->e->function->type->parameters[k + 2]);
        Constant argument = call->arguments[k + 2], object = new_object(v, type);
        if (type->kind == TYPE_RECORD)
            object = argument; // the address of the record
        else if (argument = constant_convert(given, type, argument), !evaluate_write(v, call->e, object, type, &argument))
            return false;
        if (!write_argument(call, type, object))
            return false;
    }
    fputc('\n', v->host->calls);
    return true;
}
