/** Passes every method call of a port through one function. */

export interface InterceptedCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Carries out the intercepted call; may be called several times. */
export type Proceed = () => Promise<unknown>;

/** Returns the port with every method call passed to `around`, which answers it. */
export function intercept<T extends object>(
  target: T,
  around: (call: InterceptedCall, proceed: Proceed) => Promise<unknown>,
): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        around({ method: String(name), args }, async () => Reflect.apply(member, object, args));
    },
  });
}

/** A call that is never answered, as for a process that died. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
