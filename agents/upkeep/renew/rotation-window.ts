import { validityOf } from '../../../lib/pki/certificate.ts';

/**
 * When the kubelet requests its next certificate: at a random time between 70 and 90 % of the
 * lifetime (client-go, certificate_manager.go, nextRotationDeadline).
 */
export interface RotationWindow {
  readonly from: Date;
  readonly until: Date;
}

const [FIRST, LAST] = [0.7, 0.9];

/** @throws Failure (fatal) if the text contains no readable certificate. */
export function rotationWindow(pem: string): RotationWindow {
  const { notBefore, notAfter } = validityOf(pem);
  const lifetimeMs = notAfter.getTime() - notBefore.getTime();
  const at = (share: number) => new Date(notBefore.getTime() + share * lifetimeMs);
  return { from: at(FIRST), until: at(LAST) };
}
