import { generateKeyPairSync } from 'node:crypto';
import { createAuthority } from '../lib/pki/authority.ts';

/** On the kernel command line of the installed system. */
export const KERNEL_ARGUMENT = 'sno.lab=1';

const PROXY_PASSWORD = 'proxy-Passw0rd';
const REGISTRY_AUTH = Buffer.from('lab:registry-Passw0rd').toString('base64');

/** What no log bundle may tell of the site. */
export const SITE_SECRETS = [PROXY_PASSWORD, REGISTRY_AUTH, 'registry-Passw0rd'] as const;

/** Nobody answers here (TEST-NET-1): what goes through the proxy although it must not, fails. */
export const PROXY = `http://user:${PROXY_PASSWORD}@192.0.2.1:3128`;

/** Fields of install-config.yaml by which the lab's site gives what a real one does. */
export async function siteInputs() {
  const authority = await createAuthority('Authority of the lab');
  return {
    pullSecret: JSON.stringify({ auths: { 'registry.example.org': { auth: REGISTRY_AUTH } } }),
    // Whose private half is gone: nobody logs in by SSH, but the user core is there.
    sshKey: sshPublicKey(),
    proxy: { httpProxy: PROXY, httpsProxy: PROXY, noProxy: '.example.org' },
    additionalTrustBundle: authority.certificate,
    additionalTrustBundlePolicy: 'Always',
    imageDigestSources: [{ source: 'quay.io/lab', mirrors: ['mirror.example.org:5000/lab'] }],
  };
}

export const hostInputs = {
  additionalNTPSources: ['ntp.example.org'],
  kernelArguments: [KERNEL_ARGUMENT],
};

/** As ssh-keygen prints it (RFC 8709, section 4): two strings, each after its length. */
function sshPublicKey(): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const parts = [Buffer.from('ssh-ed25519'), raw].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `ssh-ed25519 ${Buffer.concat(parts).toString('base64')} lab`;
}
