/** Composition of `cairn/effects`: the ledger over a Firestore database, for a function without an installation. */
import { type RetryPolicy, retryPolicy } from '../../core/decisions/retry.ts';
import { parseDuration } from '../../core/duration.ts';
import { invalidInput } from '../../core/errors.ts';
import { MIN_RETENTION_MS } from '../../core/retention/policy.ts';
import { messageOf } from '../../core/thrown.ts';
import { CachedRuntimeConfig } from '../../engine/cached-runtime-config.ts';
import { Bindings } from '../../engine/define/bindings.ts';
import type { Binding, Capability } from '../../engine/define/capability.ts';
import { ExternalEffects } from '../../engine/external/external-effects.ts';
import type { EffectMetric, Metrics } from '../../ports/metrics.ts';
import { FirestoreRuntimeConfigStore } from '../../store/firestore-documents.ts';
import { FirestoreEffectStore } from '../../store/firestore-effect-store.ts';
import { PREFIX_OF_THE_MODEL } from '../../store/layout/collections.ts';
import { Paths } from '../../store/paths.ts';
import { FirestorePayloads } from '../../store/payloads.ts';
import { firestoreClient } from '../clients/firestore.ts';
import { systemClock } from '../clock.ts';
import { InstanceOperations } from '../diagnosis/instance-operations.ts';
import { platformLog } from '../log.ts';
import { systemRandomness } from '../randomness.ts';

export interface EffectsOptions {
  /** Tenant of calls that name none. */
  readonly tenantId: string;
  readonly bindings: readonly Binding[];
  /** Default: the project of the function, GCLOUD_PROJECT. */
  readonly project?: string;
  /** Id of the Firestore database; default `(default)`. Use the one of the installation whose inbox shows the questions. */
  readonly database?: string;
  /** Prefix of the collections; default `gwi_`, as for an installation. */
  readonly collectionPrefix?: string;
  /** Longest time that a call may take, ms: 1 to 540,000; default 60,000. */
  readonly callTimeoutMs?: number;
  /**
   * Retries of calls that did not take effect or can be looked up. Default: three attempts within a few seconds. If a receiver's
   * `retryAt` is further away than `capMs` (default 5,000), the next call with the key retries.
   */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Lifetime of a key after its last change, such as '400d' or ms; at least a day. Afterwards the same key makes a new call. Default:
   * until the tenant is erased.
   */
  readonly keepFor?: string | number;
  /** Called with each outcome of a call, for metrics. Its errors are only logged. */
  readonly onOutcome?: (effect: EffectMetric) => void;
}

export interface OnceOptions {
  readonly tenantId?: string;
  /** Earliest time at which this action can have been requested, such as the creation of the order. Needed after a restore of the database. */
  readonly since?: Date;
  /** Ends the wait. The next call with the key finds out the outcome of a call in progress. */
  readonly signal?: AbortSignal;
}

export interface Effects {
  /**
   * Makes the call once for the key, or returns the recorded answer.
   *
   * @param key the same for each attempt of one action, and different for every other action of the tenant: 1 to 200 visible ASCII
   * characters
   *
   * @throws EffectPending: a person must decide first; EffectForbidden: a person has forbidden the call; NotApplied: it did not
   * take effect; CairnError INVALID_INPUT, EFFECT_REQUEST_MISMATCH, UNAVAILABLE
   */
  once<Request, Response>(
    key: string,
    capability: Capability<Request, Response>,
    request: Request,
    options?: OnceOptions,
  ): Promise<Response>;
}

const DEFAULT_CALL_MS = 60_000;
/** Longest timeout of a second-generation function. */
const MAX_CALL_MS = 540_000;
/** Longest wait for a retry, ms. After a longer time the function's next call retries. */
const RETRY_CAP_MS = 5_000;
const NEVER = new AbortController().signal;

/** Logs errors of the counter, so that they do not fail the call. */
function countedBy(onOutcome: EffectsOptions['onOutcome']): Pick<Metrics, 'effect'> | undefined {
  if (!onOutcome) return undefined;
  return {
    effect(effect) {
      try {
        onOutcome(effect);
      } catch (error) {
        platformLog.warn('effect_outcome_uncounted', { error: messageOf(error) });
      }
    },
  };
}

/** @throws CairnError INVALID_INPUT with the name of the option */
export function createEffects(options: EffectsOptions): Effects {
  const { tenantId, callTimeoutMs = DEFAULT_CALL_MS, retry, database = '(default)' } = options;
  const project = options.project ?? process.env.GCLOUD_PROJECT ?? process.env.GOOGLE_CLOUD_PROJECT;
  if (!project)
    throw invalidInput('project', 'there is no project', { help: 'Set GCLOUD_PROJECT or give it.' });
  if (!(callTimeoutMs >= 1 && callTimeoutMs <= MAX_CALL_MS))
    throw invalidInput('callTimeoutMs', `callTimeoutMs must be 1 to ${MAX_CALL_MS}`);
  const keepMs = options.keepFor === undefined ? undefined : parseDuration(options.keepFor, 'keepFor');
  if (keepMs !== undefined && keepMs < MIN_RETENTION_MS)
    throw invalidInput('keepFor', 'keepFor must be at least a day');
  const prefix = options.collectionPrefix ?? PREFIX_OF_THE_MODEL;
  const settings = { callTimeoutMs, keepMs, retry: retryPolicy({ capMs: RETRY_CAP_MS, ...retry }) };
  const bindings = new Bindings(options.bindings);
  let made: ExternalEffects | undefined;
  const effects = () => {
    // Connects at the first call, because loading a function must not do I/O.
    if (made) return made;
    const db = firestoreClient({ project, database, tally: new InstanceOperations(systemClock) });
    const payloads = new FirestorePayloads(db, new Paths(db, prefix));
    const home = `projects/${project}/databases/${database}`;
    made = new ExternalEffects(
      {
        ledger: {
          effects: new FirestoreEffectStore(db, prefix),
          store: {
            // No other run can make an effect of this owner.
            load: async () => undefined,
            writePayload: (owner, text) => payloads.writePayload(owner, text),
            readPayload: (owner, ref) => payloads.readPayload(owner, ref),
          },
          clock: systemClock,
          random: systemRandomness,
          log: platformLog,
        },
        runtime: new CachedRuntimeConfig(new FirestoreRuntimeConfigStore(db, prefix), systemClock, home),
        bindings,
        metrics: countedBy(options.onOutcome),
      },
      settings,
    );
    return made;
  };
  return {
    async once<Request, Response>(
      key: string,
      capability: Capability<Request, Response>,
      request: Request,
      { tenantId: own = tenantId, since, signal = NEVER }: OnceOptions = {},
    ): Promise<Response> {
      // The schema of the capability has parsed the response.
      return (await effects().once({
        tenantId: own,
        key,
        capability: capability as Capability,
        request,
        since: since?.getTime(),
        signal,
      })) as Response;
    },
  };
}
