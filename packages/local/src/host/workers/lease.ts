/** Assignment of a worker to a request, and the error without one. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';

/** A worker assigned to a request; release it exactly once. */
export interface WorkerLease {
  readonly port: number;
  readonly link: FrameClient | undefined;
  release(): void;
  /** Call when the connection to the worker broke or was refused: it may be dead. */
  broken(): void;
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
