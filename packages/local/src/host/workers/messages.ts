/**
 * Messages between the cloud process and a worker over the IPC channel. The order is fixed: `load` → `loaded` → `serve`
 * → `ready`; or `failed` at any point, after which the worker exits. When ready, it may be asked for a heartbeat, to move
 * its clock, or to warm up.
 */
import type { FunctionSpec } from '../function-spec.ts';

/** Servers that are separate from those of the functions, and the location of the runs on them. */
export interface WarmUpServers {
  /** `host:port`, like `tasks`. */
  readonly firestore: string;
  readonly tasks: string;
  /** Region of the queue. */
  readonly region: string;
  readonly database: string;
  readonly collectionPrefix: string;
  /** Target URL of tasks. */
  readonly driveUrl: string;
}

/** Names of the functions that a worker serves for a warm-up. No export has such a name. */
export const WARM_UP = { api: 'cairn:warm-up-api', drive: 'cairn:warm-up-drive' };

export type ToWorker =
  | {
      readonly kind: 'load';
      /** Absolute path of the module that exports the functions. */
      readonly module: string;
      readonly region: string;
      readonly env: Readonly<Record<string, string>>;
      /** Set while the module loads, because its code may read them. Afterwards only declared secrets remain. */
      readonly secrets?: Readonly<Record<string, string>> | undefined;
      /** Offset of the cloud's clock from the machine's. */
      readonly clockOffsetMs: number;
      /** Grace period of current requests after SIGTERM; default: that of Cloud Run. */
      readonly graceMs?: number | undefined;
    }
  | { readonly kind: 'clock'; readonly offsetMs: number }
  /** Sent to an idle worker: load the libraries of a first request. */
  | { readonly kind: 'warm-up' }
  /** Sent to an idle worker after `warm-up`: serve functions for no-op runs, with these servers. */
  | { readonly kind: 'serve-warm-up'; readonly servers: WarmUpServers }
  | { readonly kind: 'end-warm-up' }
  /** Sent after a connection broke; the response is `alive`. */
  | { readonly kind: 'are-you-alive' }
  /** Values of all declared secrets, which are known once the functions are loaded. */
  | { readonly kind: 'serve'; readonly env: Readonly<Record<string, string>> };

export type FromWorker =
  | {
      readonly kind: 'loaded';
      readonly functions: readonly FunctionSpec[];
      /** Names of their parameters without a value; absent if unknown. */
      readonly unset?: readonly string[];
    }
  /** `hasLink`: the worker also takes requests by frames (`host/link/`). */
  | { readonly kind: 'ready'; readonly port: number; readonly hasLink?: true }
  | { readonly kind: 'alive' }
  /** Answers `warm-up`, whether or not that succeeded. */
  | { readonly kind: 'warm' }
  /** Answers `serve-warm-up`. False if the functions have no installation of Cairn, or one of an earlier version. */
  | { readonly kind: 'serves-warm-up'; readonly isServing: boolean }
  /** Response to `clock`: all running work has recorded the new time. */
  | { readonly kind: 'clock-moved' }
  /** Sent once a second while it serves, to show that its event loop is not blocked. */
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'failed'; readonly error: string };

/** Undefined for other messages, which code of the functions may send from the same process. */
export function fromWorker(message: unknown): FromWorker | undefined {
  const {
    kind,
    functions,
    unset = [],
    port,
    error,
    isServing,
  } = Object(message) as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'loaded':
      return Array.isArray(functions) && Array.isArray(unset) ? (message as FromWorker) : undefined;
    case 'ready':
      return Number.isInteger(port) ? (message as FromWorker) : undefined;
    case 'failed':
      return typeof error === 'string' ? (message as FromWorker) : undefined;
    case 'serves-warm-up':
      return { kind, isServing: isServing === true };
    case 'alive':
    case 'warm':
    case 'clock-moved':
    case 'heartbeat':
      return { kind };
    default:
      return undefined;
  }
}

/** Text of an error: its message, its help if it has one, and its stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { help } = error as { help?: unknown };
  const stack = error.stack ?? error.message;
  if (typeof help !== 'string') return stack;
  const frames = stack.search(/\n\s+at /);
  const [description, at] = frames < 0 ? [stack, ''] : [stack.slice(0, frames), stack.slice(frames)];
  return `${description}\n${help}${at}`;
}
