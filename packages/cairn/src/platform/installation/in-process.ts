/**
 * Starts, signals and reads runs from other functions of the codebase, such as a callable: the operations of the HTTP API,
 * without its keys. The caller must have authenticated the request, and names the tenant.
 */
import type { CairnInstallation } from './installation.ts';

export interface Asking {
  readonly tenantId: string;
  /** Name of the caller in runs and journals, such as the id of a user. Default: `app`. */
  readonly actor?: string | undefined;
  /** The same for every sending of one request: a repetition within a day is answered as the first was. */
  readonly idempotencyKey?: string | undefined;
}

export interface StartAsking extends Asking {
  /** 1 to 255 visible ASCII characters. */
  readonly threadId?: string | undefined;
  /** The conversation that the run and its children belong to: 1 to 200 printable ASCII characters without spaces. */
  readonly a2aCorrelationId?: string | undefined;
}

export interface StartedRun {
  readonly runId: string;
  /** Answered from the record of an earlier request with the same key. */
  readonly replayed: boolean;
}

export interface Signal {
  readonly name: string;
  readonly key?: string;
  /** Anything JSON can carry. */
  readonly data?: unknown;
}

export interface RunResult {
  readonly runId: string;
  readonly status: string;
  /** Once it is completed. */
  readonly result?: unknown;
  /** Once it has failed. */
  readonly error?: unknown;
}

export interface InProcess {
  /**
   * @param input what JSON can carry unchanged: plain objects, no Date or Map
   *
   * @throws CairnError as `POST /v1/runs` answers: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, UNAVAILABLE and so on
   */
  start(type: string, input: unknown, asking: StartAsking): Promise<StartedRun>;
  /** @throws CairnError as `POST /v1/runs/{id}/signals` answers */
  signal(runId: string, signal: Signal, asking: Asking): Promise<{ readonly outcome: 'taken_in' | 'kept' }>;
  /** @throws CairnError NOT_FOUND: the tenant has no such run */
  result(runId: string, asking: Pick<Asking, 'tenantId'>): Promise<RunResult>;
}

/** Loads its modules with the first call. */
export function inProcess(installation: CairnInstallation): InProcess {
  const own = async () => {
    const [{ compose }, requests] = await Promise.all([import('../root.ts'), import('../own-requests.ts')]);
    return { requests, api: (await compose(installation)).api };
  };
  return {
    async start(type, input, asking) {
      const { requests, api } = await own();
      return requests.startOwn(api, { type, input, ...asking });
    },
    async signal(runId, signal, asking) {
      const { requests, api } = await own();
      return requests.signalOwn(api, { runId, signal, ...asking });
    },
    async result(runId, { tenantId }) {
      const { requests, api } = await own();
      return requests.resultOwn(api, { runId, tenantId });
    },
  };
}
