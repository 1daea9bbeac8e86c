// Conditional nodes of CUDA graphs: if, else, while and switch, nested, built node by node and by capture.
#include "check.h"

#if CUDART_VERSION >= 13000

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

__global__ void add(int *x, int what)
{
    *x += what;
}

// One iteration: adds the remaining count, and continues while it is above 0.
__global__ void count_down(int *left, int *sum, cudaGraphConditionalHandle handle)
{
    *sum += *left;
    cudaGraphSetConditional(handle, --*left > 0);
}

static cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNode_t before, cudaGraphNodeParams *p)
{
    cudaGraphNode_t node;
    CUDA(cudaGraphAddNode(&node, graph, before ? &before : nullptr, nullptr, before ? 1 : 0, p));
    return node;
}

template <class... Types> static cudaGraphNode_t launch(cudaGraph_t graph, cudaGraphNode_t before,
                                                        void (*kernel)(Types...), Types... values)
{
    void *arguments[] = {&values...};
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void *)kernel;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = arguments;
    return add_node(graph, before, &p);
}

static cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
}

static cudaGraphConditionalHandle new_handle(cudaGraph_t graph, unsigned value = 0, unsigned flags = 0)
{
    cudaGraphConditionalHandle handle;
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph, value, flags));
    return handle;
}

static int value_of(const int *x)
{
    int value;
    CUDA(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// The value of *x, initially 0, after the given number of launches.
static int launched(cudaGraph_t graph, int *x, int times = 1)
{
    cudaGraphExec_t run;
    CUDA(cudaMemset(x, 0, sizeof *x));
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    while (times-- > 0)
        CUDA(cudaGraphLaunch(run, 0));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaGraphExecDestroy(run));
    return value_of(x);
}

// A graph whose only conditional node has `size` graphs; number k of them adds 10 to the k to *x.
static int chosen(int *x, cudaGraphConditionalNodeType type, unsigned size, unsigned value)
{
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    const auto handle = new_handle(graph);
    const auto before = launch(graph, nullptr, choose, handle, value);
    auto p = conditional(handle, type, size);
    const auto node = add_node(graph, before, &p);
    for (int k = 0, what = 1; k < (int)size; k++, what *= 10)
        launch(p.conditional.phGraph_out[k], nullptr, add, x, what);
    launch(graph, node, add, x, 5); // after it
    const int result = launched(graph, x);
    CUDA(cudaGraphDestroy(graph));
    return result;
}

static void test_loops(int *x, int *left, int *sum)
{
    cudaGraph_t graph;
    CUDA(cudaGraphCreate(&graph, 0));
    const auto handle = new_handle(graph, 1, cudaGraphCondAssignDefault), inner = new_handle(graph);
    auto loop = conditional(handle, cudaGraphCondTypeWhile, 1);
    const auto node = add_node(graph, nullptr, &loop);
    const cudaGraph_t body = loop.conditional.phGraph_out[0];

    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(left, sum, handle);
    choose<<<1, 1, 0, stream>>>(inner, 1);
    CUDA(cudaStreamEndCapture(stream, nullptr));
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    CUDA(cudaGraphGetNodes(body, nodes, &count));
    CHECK(count == 2);
    auto branch = conditional(inner, cudaGraphCondTypeIf, 1); // within the loop
    add_node(body, nodes[1], &branch);
    launch(branch.conditional.phGraph_out[0], nullptr, add, x, 1);
    launch(graph, node, add, x, 100);

    const int five = 5;
    CUDA(cudaMemcpy(left, &five, sizeof five, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(sum, 0, sizeof *sum));
    CHECK(launched(graph, x) == 105 && value_of(sum) == 15 && value_of(left) == 0);
    // Each launch begins with the handle's value; the loop ends after one iteration if less than 0 is left.
    CHECK(launched(graph, x, 2) == 202 && value_of(left) == -2);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaGraphDestroy(graph));
}

static void nothing(void *)
{
}

static void test_refused(int *x)
{
    cudaGraph_t graph, other;
    cudaGraphNode_t node;
    cudaGraphExec_t run, second;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&other, 0));
    const auto handle = new_handle(graph);
    auto p = conditional(handle, cudaGraphCondTypeWhile, 2);
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue); // a loop with two bodies
    p = conditional(handle, cudaGraphCondTypeIf, 1);
    CHECK(cudaGraphAddNode(&node, other, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue); // a handle of another graph
    CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p) == cudaErrorInvalidValue); // the handle has a node already
    launch(p.conditional.phGraph_out[0], nullptr, add, x, 1);
    CHECK(cudaGraphDestroy(p.conditional.phGraph_out[0]) != cudaSuccess);
    CHECK(cudaGraphClone(&other, graph) != cudaSuccess);
    CHECK(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph) != cudaSuccess);
    CUDA(cudaGraphInstantiate(&run, graph, 0));
    CHECK(cudaGraphInstantiate(&second, graph, 0) != cudaSuccess);
    CUDA(cudaGraphExecDestroy(run));
    cudaGraphNodeParams host = {};
    host.type = cudaGraphNodeTypeHost;
    host.host.fn = nothing;
    add_node(p.conditional.phGraph_out[0], nullptr, &host);
    CHECK(cudaGraphInstantiate(&run, graph, 0) != cudaSuccess); // host nodes are not allowed
    CHECK(cudaGetLastError() != cudaSuccess);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaGraphDestroy(other));
}

int main()
{
    int *x, *left, *sum;
    CUDA(cudaMalloc(&x, sizeof *x));
    CUDA(cudaMalloc(&left, sizeof *left));
    CUDA(cudaMalloc(&sum, sizeof *sum));
    CHECK(chosen(x, cudaGraphCondTypeIf, 1, 7) == 6);
    CHECK(chosen(x, cudaGraphCondTypeIf, 1, 0) == 5);
    CHECK(chosen(x, cudaGraphCondTypeIf, 2, 0) == 15);
    CHECK(chosen(x, cudaGraphCondTypeSwitch, 3, 2) == 105);
    CHECK(chosen(x, cudaGraphCondTypeSwitch, 3, 3) == 5); // no such branch
    test_loops(x, left, sum);
    test_refused(x);
    CUDA(cudaFree(x));
    CUDA(cudaFree(left));
    CUDA(cudaFree(sum));
    puts("PASS");
}

#else

int main()
{
    puts("PASS"); // older toolkits have other signatures
}

#endif
