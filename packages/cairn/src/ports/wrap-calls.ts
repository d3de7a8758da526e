/**
 * Wraps the calls of a port, to repeat, count or duplicate them. Members that are not methods are unchanged.
 *
 * For a dispatch of twelve commits, a Proxy costs 10 µs more CPU time than methods written by hand, of about 12 ms.
 */
type AnyMethod = (...args: never[]) => unknown;
type Name<P> = Extract<keyof P, string>;

/**
 * Wraps every call. `call` performs it, on the port or on another of the same type, and may be called several times. If all
 * methods are asynchronous, `call` is too.
 */
type AroundAll<P> = P extends { readonly [K in keyof P]: (...args: never[]) => Promise<unknown> }
  ? <R>(call: (on: P) => Promise<R>, name: Name<P>) => Promise<R>
  : <R>(call: (on: P) => R, name: Name<P>) => R;

/** Wraps each method differently; `call` is the method of the port. A missing method does not compile. */
export type AroundEach<P> = {
  readonly [K in keyof P as P[K] extends AnyMethod ? K : never]: P[K] extends (...args: infer A) => infer R
    ? (call: (...args: A) => R, ...args: A) => R
    : never;
};

const BEHIND = Symbol('the port behind the wrapper');

export function wrapCalls<P extends object>(port: P, around: AroundAll<P> | AroundEach<P>): P {
  const surround = typeof around === 'function' ? everyCall(around) : eachCall(port, around);
  const methods = new Map<string | symbol, Call>();
  return new Proxy(port, {
    get(target, name) {
      const known = methods.get(name);
      if (known) return known;
      if (name === BEHIND) return innermostPort(target);
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const method = surround(String(name));
      methods.set(name, method);
      return method;
    },
  });
}

/** Wraps the methods that `around` names; the others are unchanged. */
export function wrapSomeCalls<P extends object>(port: P, around: Partial<AroundEach<P>>): P {
  return wrapCalls(port, around as unknown as AroundEach<P>);
}

/** The port without its wrappers, so that two wrappers of one port share the caches that are keyed by port. */
export function innermostPort<P extends object>(port: P): P {
  return (port as { readonly [BEHIND]?: P })[BEHIND] ?? port;
}

type Call = (...args: unknown[]) => unknown;
type Calls = Readonly<Record<string, Call>>;
type Surround = (name: string) => Call;

function everyCall(around: AnyMethod): Surround {
  return (name) =>
    (...args) => {
      const call = (on: object) => methodOf(on, name)(...args);
      return Reflect.apply(around as Call, undefined, [call, name]);
    };
}

function eachCall(port: object, around: object): Surround {
  return (name) => {
    const call = methodOf(port, name);
    const own = (around as Calls)[name];
    return own ? (...args) => own(call, ...args) : call;
  };
}

function methodOf(port: object, name: string): Call {
  return (...args) => Reflect.apply(Reflect.get(port, name) as Call, port, args);
}
