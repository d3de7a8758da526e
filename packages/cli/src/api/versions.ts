/** Compares the versions of this program and of the installation after a refusal, which a difference may explain. */
import { type CairnClient, Refusal, Unreachable } from '@cairn/client';

export interface DifferentVersions {
  readonly installation: string;
  readonly commandLine: string;
}

/** Statuses of answers to a path, parameter or member that an installation does not know. */
const UNKNOWN_REQUEST: ReadonlySet<number> = new Set([400, 404, 405]);
/** Status of `/v1/healthz`: with another one a proxy may have answered. */
const OK = 200;

/** Undefined if the versions are equal, the error has another reason, or the version of the installation is unknown. */
export async function differentVersions(
  error: unknown,
  api: CairnClient,
  commandLine: string,
): Promise<DifferentVersions | undefined> {
  if (!(error instanceof Refusal) || !UNKNOWN_REQUEST.has(error.problem.status)) return undefined;
  const installation = await versionOf(api);
  if (installation === undefined || installation === commandLine) return undefined;
  return { installation, commandLine };
}

async function versionOf(api: CairnClient): Promise<string | undefined> {
  try {
    const { status, text } = await api.exchange({ method: 'GET', target: '/v1/healthz' });
    if (status !== OK) return undefined;
    const { version } = (JSON.parse(text) ?? {}) as { readonly version?: unknown };
    return typeof version === 'string' ? version : undefined;
  } catch (error) {
    // The refusal is shown even if this request fails.
    if (error instanceof Unreachable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
