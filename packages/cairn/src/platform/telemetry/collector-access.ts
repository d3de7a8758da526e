/**
 * Credentials for the collector: configured headers, or a token of this service account for
 * telemetry.googleapis.com, without Google's exporter.
 */
import type { Clock } from '../../ports/clock.ts';

/** Google's OTLP endpoint takes the tokens of service accounts. */
const GOOGLE_HOST = 'telemetry.googleapis.com';
const TOKEN_PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const TOKEN_TIMEOUT_MS = 3_000;
/** A token is renewed this long before it expires; Google issues a new one five minutes before. */
const EARLY_MS = 60_000;
/** Pause after a failure of the metadata server. */
const RETRY_MS = 30_000;

export function isGoogle(endpoint: string): boolean {
  return new URL(endpoint).hostname === GOOGLE_HOST;
}

/**
 * The format of OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`, values percent-encoded.
 *
 * @throws Error that names the parameter, but not its value
 */
export function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue;
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw unreadable();
    headers[name] = decoded(value.trim());
  }
  return headers;
}

function decoded(value: string): string {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw unreadable();
  }
  if (/[^\t\x20-\x7e]/.test(text)) throw unreadable();
  return text;
}

function unreadable(): Error {
  return new Error('OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value');
}

interface TokenOptions {
  /** URL of the metadata server, without a slash at the end. */
  readonly metadata: string;
  readonly clock: Clock;
  /** Called with errors of the token request. */
  readonly onFailure: (error: unknown) => void;
}

/** Headers with a token of the functions' account; without a token while none is available. */
export function googleHeaders({
  metadata,
  clock,
  onFailure,
}: TokenOptions): () => Promise<Record<string, string>> {
  let known: { readonly headers: Promise<Record<string, string>>; until: number } | undefined;
  const ask = async () => {
    try {
      const { token, expiresInMs } = await tokenFrom(metadata);
      if (known) known.until = clock.now() + Math.max(0, expiresInMs - EARLY_MS);
      return { authorization: `Bearer ${token}` };
    } catch (error) {
      if (known) known.until = clock.now() + RETRY_MS;
      onFailure(error);
      return {};
    }
  };
  return () => {
    // The two exports that ask at the same time share the request.
    if (!known || clock.now() >= known.until) {
      const access = { headers: Promise.resolve({}), until: Number.POSITIVE_INFINITY };
      known = access;
      access.headers = ask();
    }
    return known.headers;
  };
}

async function tokenFrom(metadata: string): Promise<{ token: string; expiresInMs: number }> {
  const answer = await fetch(`${metadata}${TOKEN_PATH}`, {
    headers: { 'Metadata-Flavor': 'Google' },
    signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
  });
  if (!answer.ok) throw new Error(`the metadata server answered ${answer.status}`);
  const { access_token: token, expires_in: seconds } = (await answer.json()) as Record<string, unknown>;
  if (typeof token !== 'string' || typeof seconds !== 'number')
    throw new Error('the metadata server answered without a token');
  return { token, expiresInMs: seconds * 1_000 };
}
