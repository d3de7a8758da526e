/** Common options of both exports to a collector: URL, resource, credentials. */

/** A collector that takes longer is given up. */
export const SEND_TIMEOUT_MS = 5_000;

export interface OtlpOptions {
  /** Base address of the collector; the path of each signal is appended, as OTLP defines it. */
  readonly endpoint: string;
  /** Attributes that distinguish this instance. */
  readonly resource: Readonly<Record<string, string>>;
  /** Asked with every export. Must not throw. */
  readonly headers: () => Promise<Record<string, string>>;
}

export function signalUrl(endpoint: string, signal: 'metrics' | 'traces'): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
}
