/** The used part of avsc's types, whose declarations are mostly `any`. Types only. */
export interface AvroShape {
  readonly typeName: string;
  /** Its name as a branch of a union. */
  readonly branchName?: string;
  readonly fields?: readonly { readonly name: string; readonly type: AvroShape }[];
  readonly itemsType?: AvroShape;
  readonly valuesType?: AvroShape;
  readonly types?: readonly AvroShape[];
  readonly symbols?: readonly string[];
  readonly size?: number;
}
