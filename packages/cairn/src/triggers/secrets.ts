/** Secrets that are shared with a sender of webhooks. */

/**
 * The secrets in a parameter: one, or during an exchange several, separated by commas.
 *
 * @param name of the parameter
 * @throws Error if there is none: this is a configuration error, and every request would be refused
 */
export function secretsIn(name: string, parameter: string): string[] {
  const secrets = parameter
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
  if (secrets.length === 0) throw new Error(`${name} is empty`);
  return secrets;
}
