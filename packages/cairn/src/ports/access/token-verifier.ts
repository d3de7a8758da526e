/** Verifies ID tokens of signed-in people with the identity provider of the installation. */

export interface VerifiedToken {
  /** User id. The provider never reassigns it. */
  readonly uid: string;
  readonly claims: { readonly [name: string]: unknown };
}

export interface TokenVerifier {
  /**
   * Claims of a token, if the provider signed it for this installation and it has not expired; otherwise undefined.
   *
   * @throws CairnError UNAVAILABLE if the token cannot be verified now
   */
  verify(token: string): Promise<VerifiedToken | undefined>;
}
