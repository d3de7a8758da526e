/** A request's place in a worker, or the reason why it got none. */
import type { FrameClient } from '@cairn/local-kit/wire/frame-client';

/** A place in a worker; give it back exactly once. */
export interface WorkerLease {
  readonly port: number;
  readonly link: FrameClient | undefined;
  release(): void;
  /** The connection to the worker broke or was refused: it may be dead without notice. */
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
