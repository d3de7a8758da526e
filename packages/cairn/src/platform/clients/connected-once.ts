/**
 * A client that is created at its first use and kept. After a failure the next caller creates a new one: Google's clients
 * keep a failed search for credentials for their lifetime, and the metadata server may only have been slow.
 */
export function connectedOnce<T>(connect: () => Promise<T>): () => Promise<T> {
  let connected: Promise<T> | undefined;
  return () => {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    return connected;
  };
}
