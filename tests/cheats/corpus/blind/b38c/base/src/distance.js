const RADIUS_KM = 6371;
const rad = (degrees) => (degrees * Math.PI) / 180;

/** Kilometres between two points given as { lat, lon } in degrees. */
export function distance(a, b) {
  const x = rad(b.lon - a.lon) * Math.cos(rad(a.lat));
  const y = rad(b.lat - a.lat);
  return RADIUS_KM * Math.hypot(x, y);
}

export function routeLength(points) {
  let sum = 0;
  for (let i = 1; i < points.length; i++) sum += distance(points[i - 1], points[i]);
  return sum;
}
