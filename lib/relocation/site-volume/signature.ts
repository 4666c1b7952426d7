import type { SignaturePurpose } from '../../pki/signature/ssh-signature.ts';

export const VOLUME_SIGNATURE: SignaturePurpose = {
  namespace: 'sno-site-volume',
  signer: 'sno-site',
  subject: 'site volume',
  keys: 'a key that the factory has allowed (allowedSigners)',
  fixes: {
    sign: 'Nothing was changed. Sign it with "sno create site-volume --sign", with a key that the factory knows.',
    allow: 'Nothing was changed. The factory allows keys with "reconfigure prepare".',
  },
  code: 'site-volume-refused',
};
