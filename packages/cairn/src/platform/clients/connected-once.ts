/**
 * A client that is made when it is first used, and kept. One that could not be made is made anew for the next caller: Google's clients
 * keep the failure of a search for credentials as long as they live, and the metadata server may only have been slow.
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
