/** The examples of AWS' documentation: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
import t from 'tap';
import {
  EMPTY_PAYLOAD,
  signatureHeaders,
} from '../../../../../lib/change/backup/push/signature.ts';

const keys = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const at = new Date('2013-05-24T00:00:00Z');
const HOST = 'https://examplebucket.s3.amazonaws.com';
const CREDENTIAL = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';

t.test('GET of an object', async (t) => {
  const url = `${HOST}/test.txt`;
  const headers = { range: 'bytes=0-9' };
  t.same(signatureHeaders({ method: 'GET', url, payload: EMPTY_PAYLOAD, at, headers }, keys), {
    range: 'bytes=0-9',
    'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'x-amz-date': '20130524T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${CREDENTIAL},SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41`,
  });
});

t.test('PUT of an object', async (t) => {
  const url = `${HOST}/test%24file.text`;
  const payload = '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072';
  const headers = {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  };
  t.equal(
    signatureHeaders({ method: 'PUT', url, payload, at, headers }, keys).authorization,
    `AWS4-HMAC-SHA256 Credential=${CREDENTIAL},SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
  );
});
