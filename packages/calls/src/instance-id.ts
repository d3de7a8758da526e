/** Names that an instance of the kit can have. */

/**
 * firebase-tools allows underscores in an id, but it becomes part of the names of queues, which cannot have them: a deployment
 * would fail half way.
 *
 * @param id undefined: not installed as a kit
 *
 * @throws Error with advice
 */
export function assertInstanceId(id: string | undefined): void {
  if (id?.includes('_'))
    throw new Error(
      `@cairn/calls: the instance '${id}' cannot be deployed, because the names of its task queues cannot have underscores. ` +
        `Name it '${id.replaceAll('_', '-').replace(/^-+|-+$/g, '')}' in firebase.json`,
    );
}
