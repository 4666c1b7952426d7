import { randomInt } from 'node:crypto';
import type { V1Secret } from '@kubernetes/client-node';
import { BOOTSTRAPPERS } from './bootstrappers.ts';

/** A bootstrap token: a public id, and a secret. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
  /** The API server does not accept it afterwards. */
  readonly expires: Date;
}

export const TOKEN_HOURS = { default: 24, maximum: 14 * 24 } as const;
export const HOUR_MS = 3_600_000;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

const word = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** The id and the secret of a new token in Kubernetes' format, with about 80 bits of secret. */
export const newToken = (): Pick<BootstrapToken, 'id' | 'secret'> => ({
  id: word(6),
  secret: word(16),
});

/** A new token that is accepted from now on. */
export const createToken = (hours: number, now: Date): BootstrapToken => ({
  ...newToken(),
  expires: new Date(now.getTime() + hours * HOUR_MS),
});

/** As a client presents it. */
export const tokenText = ({ id, secret }: Pick<BootstrapToken, 'id' | 'secret'>): string =>
  `${id}.${secret}`;

/** The Secret by which the API server knows it: its holder is in the group of workers, and in no other. */
export const tokenSecret = ({ id, secret, expires }: BootstrapToken) =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      // Whole seconds: RFC 3339 as Kubernetes parses it.
      expiration: expires.toISOString().replace(/\.\d+Z$/, 'Z'),
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': BOOTSTRAPPERS,
      description: 'Workers request their first certificate with it (sno create worker-ignition)',
    },
  }) satisfies V1Secret;
