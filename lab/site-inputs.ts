import { createAuthority } from '../lib/pki/authority.ts';

/** On the kernel command line of the installed system. */
export const KERNEL_ARGUMENT = 'sno.lab=1';

/** Nobody answers here (TEST-NET-1): what goes through the proxy although it must not, fails. */
export const PROXY = 'http://user:password@192.0.2.1:3128';

/** Fields of install-config.yaml by which the lab's site gives what a real one does. */
export async function siteInputs() {
  const authority = await createAuthority('Authority of the lab');
  return {
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
