/**
 * Starts, signals and reads runs from other functions of the codebase, such as a callable. These are the operations of the HTTP API
 * without its keys. The caller must have authenticated the request, and names the tenant.
 */
import type { CairnInstallation } from './installation.ts';

export interface Asking {
  readonly tenantId: string;
  /** Name of the caller in runs and journals, such as the id of a user. Default: `app`. */
  readonly actor?: string | undefined;
  /** The same for every attempt of one request: a repetition within a day gets the response of the first. */
  readonly idempotencyKey?: string | undefined;
}

export interface StartAsking extends Asking {
  /** 1 to 255 visible ASCII characters. */
  readonly threadId?: string | undefined;
  /** Id of the conversation of the run and its children: 1 to 200 printable ASCII characters without spaces. */
  readonly a2aCorrelationId?: string | undefined;
}

export interface StartedRun {
  readonly runId: string;
  /** The response comes from the record of an earlier request with the same key. */
  readonly replayed: boolean;
}

export interface Signal {
  readonly name: string;
  readonly key?: string;
  /** Any JSON value. */
  readonly data?: unknown;
}

export interface RunResult {
  readonly runId: string;
  readonly status: string;
  /** Present if the run completed. */
  readonly result?: unknown;
  /** Present if the run failed. */
  readonly error?: unknown;
}

export interface InProcess {
  /**
   * @param input JSON; the schema of the workflow may drop or transform other values, such as a Date
   *
   * @throws CairnError like `POST /v1/runs`: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, UNAVAILABLE and so on
   */
  start(type: string, input: unknown, asking: StartAsking): Promise<StartedRun>;
  /** @throws CairnError like `POST /v1/runs/{id}/signals` */
  signal(runId: string, signal: Signal, asking: Asking): Promise<{ readonly outcome: 'taken_in' | 'kept' }>;
  /** @throws CairnError NOT_FOUND if the tenant has no such run */
  result(runId: string, asking: Pick<Asking, 'tenantId'>): Promise<RunResult>;
}

/** The modules are loaded with the first call. */
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
