import type { Test } from 'tap';
import { z } from 'zod';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { publicCryptoKey, publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { certifyKey } from '../../../../lib/pki/leaf.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { REQUESTS, type WorkerHost, workerHost } from './worker-host.ts';

const requestSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ request: z.string() }),
});

/** A worker whose requests are approved at once. */
export interface ApprovingHost extends WorkerHost {
  /** The fingerprints of the keys for which it has requested a certificate, in order. */
  readonly requested: readonly string[];
}

export async function approvingHost(t: Test, authority: KeyPair): Promise<ApprovingHost> {
  const it = await workerHost(t);
  const requested: string[] = [];
  it.api.rule(async ({ method, path, body }) => {
    if (method !== 'POST' || path !== REQUESTS) return undefined;
    const { metadata, spec } = requestSchema.parse(body);
    const place = `${REQUESTS}/${metadata.name}`;
    if (it.api.get(place) !== undefined) return refusal(409, { reason: 'AlreadyExists' });
    const pem = Buffer.from(spec.request, 'base64').toString();
    const key = new x509.Pkcs10CertificateRequest(pem).publicKey.toString('pem');
    requested.push(publicKeyFingerprint(key));
    const subject = { commonName: 'system:node:worker-0', organizations: ['system:nodes'] };
    const now = new Date();
    const time = { now, validFrom: now };
    const profile = { subject, usage: 'client' } as const;
    const certificate = await certifyKey(authority, publicCryptoKey(key), profile, time);
    const conditions = [{ type: 'Approved', status: 'True' }];
    const status = { conditions, certificate: Buffer.from(certificate).toString('base64') };
    it.api.set(place, { metadata, spec, status });
    return { code: 201, body: it.api.get(place) };
  });
  return { ...it, requested };
}
