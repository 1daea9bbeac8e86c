// A misspelt directive.
// error 4:2: an unknown directive: #inlcude
// help: did you mean '#include'?
#inlcude <cstdio>

__global__ void hello()
{
    printf("hello\n");
}
