/** The engine's source of randomness, which tests can replay. */
export interface Randomness {
  /** Uniform in [0, 1), for jitter. */
  unit(): number;
  /** 128 random bits as 32 hex characters, for event ids and lease owners. */
  token(): string;
  runId(): string;
}
