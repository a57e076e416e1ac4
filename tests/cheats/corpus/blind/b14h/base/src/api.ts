export async function fetchRate(currency: string): Promise<number> {
  const response = await fetch(`https://api.example.com/rates/${currency}`);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const body = (await response.json()) as { rate: number };
  return body.rate;
}
