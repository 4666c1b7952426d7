import type { Node } from '../../clients/kube/resources.ts';
import { ROLES } from '../../config/topology/roles.ts';
import { sha256 } from '../../host/files.ts';
import { certificatesIn } from '../../pki/certificate.ts';

/** Annotation that a worker gives its own Node: the digest of the CAs by which its kubelet knows the API server. */
export const API_TRUST_ANNOTATION = 'sno-agents/api-trust';

/** Selects Nodes without a control plane; hosts of earlier releases have no label, and are among them. */
export const WORKER_SELECTOR = `!${ROLES.controlPlane}`;

/** SHA-256 of the certificates of a PEM text, in their order, as lower-case hex: other text is not part of it. */
export const trustDigest = (pem: string): string => sha256(certificatesIn(pem).join(''));

/** Whether the kubelet of a Node is known to trust exactly those CAs. */
export const trusts = ({ metadata }: Node, digest: string): boolean =>
  metadata.annotations?.[API_TRUST_ANNOTATION] === digest;
