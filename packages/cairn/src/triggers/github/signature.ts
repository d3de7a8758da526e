/** Verifies the signature of a delivery with the secret shared with GitHub. */
import { verify } from '@octokit/webhooks-methods';

/**
 * True if the signature (`sha256=` and the HMAC in hex) was made over exactly this body with one of the secrets. While a
 * secret is being exchanged the old and the new one are both valid. Compares in constant time.
 */
export async function isSigned(
  body: string,
  signature: string,
  secrets: readonly string[],
): Promise<boolean> {
  // Neither is ever GitHub's, and the library throws on both.
  if (body === '' || signature === '') return false;
  let signed = false;
  for (const secret of secrets) signed = (await verify(secret, body, signature)) || signed;
  return signed;
}
