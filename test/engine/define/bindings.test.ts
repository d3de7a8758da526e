import { expect, test } from '@jest/globals';
import { order } from '../../../examples/order/order.ts';
import { pretendedBindings } from '../../../examples/order/payments.ts';
import { Bindings } from '../../../packages/cairn/src/engine/define/bindings.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';

const registry = new WorkflowRegistry([order]);

test('a capability without a binding is refused with its step and the missing binding', () => {
  expect(() => new Bindings([]).assertBound(registry)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^step '.+' of workflow 'order' uses '.+', which has no binding$/),
      help: 'Add a binding (defineBinding) to the bindings of the deployment.',
    }),
  );
  expect(() => new Bindings(pretendedBindings).assertBound(registry)).not.toThrow();
});

test('a capability that is bound twice is refused with the binding to remove', () => {
  expect(() => new Bindings([...pretendedBindings, ...pretendedBindings])).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('is bound twice'),
      help: 'Leave one of the two bindings out of the bindings of the deployment.',
    }),
  );
});
