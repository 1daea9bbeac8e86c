# The exception that longjmp throws: LLVM expects the program to define its tag.
	.globl __c_longjmp
	.tagtype __c_longjmp i32
__c_longjmp:
