import type { SignaturePurpose } from '../../pki/signature/ssh-signature.ts';

export const UPDATE_SIGNATURE: SignaturePurpose = {
  namespace: 'sno-agents-update',
  signer: 'sno-update',
  subject: 'update',
  keys: 'a key of its sshKey or of /etc/sno-agents/allowed_signers',
  fixes: {
    sign: 'Nothing was changed. Sign it with "sno create update --key".',
    allow:
      'Give an sshKey without options in install-config.yaml, or write /etc/sno-agents/allowed_signers as root (ssh-keygen(1)).',
  },
  code: 'update-refused',
};
