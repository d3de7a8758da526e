/**
 * Call handlers without gRPC: a handler takes a decoded request and returns one or several response messages. Handlers
 * throw `StatusError` for the caller.
 */
import type { Faults } from '../../faults.ts';
import type { Meter } from '../../meter.ts';
import type { TransactionalStore } from '../transactional-store.ts';

export interface CallContext {
  readonly store: TransactionalStore;
  readonly meter: Meter;
  readonly faults: Faults;
}

/** The decoded request; each handler states the part of it that it reads. */
export type UnaryHandler<Request> = (request: Request, context: CallContext) => object | Promise<object>;

export type StreamHandler<Request> = (
  request: Request,
  context: CallContext,
) => Iterable<object> | Promise<Iterable<object>>;
