/**
 * Moves the time of a worker's code with the cloud's clock. Owns the `Date` of this process; timers keep running on real time.
 */

/**
 * Offsets `Date.now()` and `new Date()` by the last argument of the returned function, in milliseconds. `Date.now` is
 * replaced immediately, because code may keep a reference to it. The constructor is replaced only when there is an offset,
 * because a proxy is slower.
 */
export function shiftableTime(): (offsetMs: number) => void {
  const Real = Date;
  const realNow = Real.now.bind(Real);
  let offset = 0;
  Real.now = () => realNow() + offset;
  return (offsetMs) => {
    offset = offsetMs;
    if (globalThis.Date === Real) globalThis.Date = shifted(Real);
  };
}

function shifted(Real: DateConstructor): DateConstructor {
  return new Proxy(Real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [Real.now()] : args, newTarget),
    apply: () => new Real(Real.now()).toString(),
  });
}
