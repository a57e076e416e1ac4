from throttle.limiter import RateLimiter

__all__ = ["RateLimiter"]
