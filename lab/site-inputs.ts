import { generateKeyPairSync } from 'node:crypto';
import { createAuthority } from './certificates/signed-now.ts';
import { DOMAIN } from './site.ts';

/** For the kernel command line of the installed system. */
export const KERNEL_ARGUMENT = 'sno.lab=1';

const PROXY_PASSWORD = 'proxy-Passw0rd';
const REGISTRY_AUTH = Buffer.from('lab:registry-Passw0rd').toString('base64');

/** Site secrets that no log bundle may contain. */
export const SITE_SECRETS = [PROXY_PASSWORD, REGISTRY_AUTH, 'registry-Passw0rd'] as const;

/** An address without a server (TEST-NET-1): requests that wrongly use the proxy fail. */
export const PROXY = `http://user:${PROXY_PASSWORD}@192.0.2.1:3128`;

/** Fields of install-config.yaml that describe the lab's site as a real one. */
export async function siteInputs() {
  const authority = await createAuthority('Authority of the lab');
  return {
    pullSecret: JSON.stringify({ auths: { 'registry.example.org': { auth: REGISTRY_AUTH } } }),
    // Without its private key: nobody logs in by SSH, but the user core exists.
    sshKey: sshPublicKey(),
    // What hosts reach without it: registries, and a hub that they report to.
    proxy: { httpProxy: PROXY, httpsProxy: PROXY, noProxy: `.example.org,api.${DOMAIN}` },
    additionalTrustBundle: authority.certificate,
    additionalTrustBundlePolicy: 'Always',
    imageDigestSources: [{ source: 'quay.io/lab', mirrors: ['mirror.example.org:5000/lab'] }],
  };
}

export const hostInputs = {
  additionalNTPSources: ['ntp.example.org'],
  kernelArguments: [KERNEL_ARGUMENT],
};

/** In ssh-keygen's format (RFC 8709, section 4): two strings, each preceded by its length. */
export function sshPublicKey(): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const parts = [Buffer.from('ssh-ed25519'), raw].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `ssh-ed25519 ${Buffer.concat(parts).toString('base64')} lab`;
}
