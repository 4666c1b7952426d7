/** What keys can be sealed to: the secret of the host's systemd, or the host's TPM. */
export const SEAL_MODES = ['host', 'tpm2'] as const;
export type SealMode = (typeof SEAL_MODES)[number];
