/** Common options of both exports to a collector: URL, resource, credentials. */

/** Timeout of an export. */
export const SEND_TIMEOUT_MS = 5_000;

export interface OtlpOptions {
  /** Base URL of the collector. The path of each signal is appended, as OTLP defines it. */
  readonly endpoint: string;
  /** Attributes that distinguish this instance. */
  readonly resource: Readonly<Record<string, string>>;
  /** Called for every export. Must not throw. */
  readonly headers: () => Promise<Record<string, string>>;
}

export function signalUrl(endpoint: string, signal: 'metrics' | 'traces'): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
}
