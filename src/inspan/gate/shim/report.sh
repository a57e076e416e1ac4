rm -f -- @report@
(
@command@
)
inspan_status=$?
[ -f @report@ ] && cat -- @report@ >@evidence@/report-@key@
exit "$inspan_status"
