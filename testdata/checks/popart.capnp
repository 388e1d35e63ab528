# As much of the message in PopART's opaque blob as a valid one needs: its root has four pointers and no data.
@0xb3f0a7d5c1e24968;

struct Executable {
  lowering       @0 :AnyPointer;
  tensors        @1 :AnyPointer;
  rearrangeIds   @2 :AnyPointer;
  rearrangements @3 :AnyPointer;
}
