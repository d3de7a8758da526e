/** Assignment of a worker to a request, and the error if there is none. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';
import type { FunctionSpec } from '../function-spec.ts';
import type { WorkerRole } from './roles.ts';

/** A worker assigned to a request; release it exactly once. */
export interface WorkerLease {
  readonly port: number;
  readonly link: FrameClient | undefined;
  /** False for a worker that serves one request: it ends after that request, even if it did not take it. */
  readonly isMovable: boolean;
  /** True if the worker runs bodies of steps too, which may block or end it. */
  readonly isShared: boolean;
  /**
   * Set by the sender of a request that another worker may repeat. Called when the request should leave a worker that
   * {@link isShared}, repeatedly while the worker is blocked.
   *
   * @param silentMs time without a heartbeat of the worker; short if the worker is only slow
   */
  onBlocked?: (silentMs: number) => void;
  release(): void;
  /** Call when the connection to the worker broke or was refused: it may be dead. */
  broken(): void;
  /** Call when the worker did not take the request in time: its event loop may be blocked. */
  late(): void;
}

/** Requests without a user. */
export const NO_USER = '';

/** A request for a worker. */
export interface Acquiring {
  /** The queue or the caller, for example; default: {@link NO_USER}. */
  readonly user?: string | undefined;
  /** True if the request goes by frames, so that it can leave a worker that was blocked before taking it. Default: false. */
  readonly byFrames?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Facts that decide which worker a request gets. */
export interface Wanted {
  readonly spec: FunctionSpec;
  /** Role of the function; see `WorkerPool` for requests that share task workers. */
  readonly role: WorkerRole;
  readonly user: string;
  readonly byFrames: boolean;
  /** True if the request has waited long enough to take an unloaded process. */
  readonly takesCold: boolean;
}

/** The reason why a request got no worker. */
export class NoWorkerError extends Error {
  readonly status: 503 | 504;

  constructor(status: 503 | 504, message: string) {
    super(message);
    this.name = 'NoWorkerError';
    this.status = status;
  }
}
